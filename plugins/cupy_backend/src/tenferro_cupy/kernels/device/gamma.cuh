// ln |Γ| and its derivative ψ, each at the width of its operand.
//
// A recurrence moves x to an interval of length 1, where a polynomial is multiplied by the distance
// to the zero: digits remain next to the zeros. From 7.5 on (f32: 4.5) Stirling's series is enough
// (DLMF 5.11.1, 5.11.2); left of -1/2 ln |Γ|, and left of 0 ψ, are reflected (DLMF 5.5.3, 5.5.4).
// The polynomials interpolate at Chebyshev's points, with 60 digits: relative errors below 2e-17
// (f32: 3e-8). They are those of tenferro-xla.
//
// Errors, measured on the CPU beside 60 digits, in units in the last place, for x > 0: lgamma 4,
// digamma 4. For x < 0 the unit is that of the larger of the result and 1 (lgamma), or of the
// larger of the result and π² |x| / sin² πx (digamma).
// Read next: powers.cuh.

#define D __device__ inline
// ln Γ(2 + u) / u, |u| <= 1/2
D f64 log_gamma_beside_2(f64 u) {
  return polynomial(u,
    0.42278433509846713, 0.3224670334241132, -0.06735230105319563, 0.02058080842778338,
    -0.007385551028935545, 0.002890510330865901, -0.0011927539009983087, 0.0005096695196526673,
    -0.00022315497746292723, 9.945761692157133e-05, -4.4923727564247656e-05, 2.050601970174762e-05,
    -9.45628851510172e-06, 4.3828545383846665e-06, -1.9743106888421067e-06, 9.242852225162277e-07,
    -5.811277768921246e-07, 2.7475390051909663e-07);
}
D f32 log_gamma_beside_2(f32 u) {
  return polynomial(u,
    0.4227843350004583, 0.3224670334689425, -0.0673522814721006, 0.020580799471518252,
    -0.007386174155633413, 0.002890795321559696, -0.0011858600344983208, 0.0005065171429518161,
    -0.0002538170956727826, 0.00011347281994554691);
}
// ln Γ(5/4 + u) / (1/4 + u), |u| <= 1/4
D f64 log_gamma_after_1(f64 u) {
  return polynomial(u,
    -0.3930873456872526, 0.6625352492439489, -0.25548268796157403, 0.13677079348835017,
    -0.08339250575547115, 0.054390401756987936, -0.03692956433148535, 0.025743857642633955,
    -0.018282077950516312, 0.013163095200209427, -0.009579045642617183, 0.007030824612832789,
    -0.00519926250009703, 0.0038659948211805743, -0.002852787856591143, 0.002140993389081943,
    -0.0019238096770028258, 0.001455912627655452);
}
D f32 log_gamma_after_1(f32 u) {
  return polynomial(u,
    -0.3930873456872526, 0.6625352416237332, -0.2554826824095057, 0.13677241505514054,
    -0.08339368717878923, 0.05429763253512887, -0.03686198266261188, 0.027691803796352457,
    -0.0197007916187965);
}
// ψ(3/2 + u) over the distance to the zero of ψ, |u| <= 1/2
D f64 digamma_over_distance(f64 u) {
  return polynomial(u,
    0.951055876031833, -0.4236274212814605, 0.2405424842407742, -0.14840492305390884,
    0.09498872445494122, -0.061922133273064534, 0.04076083381242074, -0.02697579675613825,
    0.0179072524394512, -0.011908218001568644, 0.007926944646403797, -0.005279964873257405,
    0.003519006401502276, -0.002345267632540769, 0.0015566317474486838, -0.0010376374098418604,
    0.0007233266279287554, -0.0004821990530566789, 0.0002272331660987376, -0.00015148586836773365,
    0.00025968482126430747, -0.00017312261802727394);
}
D f32 digamma_over_distance(f32 u) {
  return polynomial(u,
    0.9510558962329134, -0.42362743473901193, 0.24053845299247192, -0.14840223752060958,
    0.09511622179338902, -0.062007068861342586, 0.03936941933941425, -0.02604888222714401,
    0.023909071438577043, -0.01590631756163065);
}
// Stirling's series in 1 / x²: of x (ln Γ(x) - (x - 1/2) ln x + x - ln(2π) / 2), and of
// x² (ln x - ψ(x) - 1 / (2 x)).
D f64 stirling_of_log_gamma(f64 z) {
  return polynomial(z, 1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680, 1.0 / 1188, -691.0 / 360360,
    1.0 / 156, -3617.0 / 122400, 43867.0 / 244188, -174611.0 / 125400);
}
D f32 stirling_of_log_gamma(f32 z) {
  return polynomial(z, 1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680, 1.0 / 1188);
}
D f64 stirling_of_digamma(f64 z) {
  return polynomial(z, 1.0 / 12, -1.0 / 120, 1.0 / 252, -1.0 / 240, 1.0 / 132, -691.0 / 32760,
    1.0 / 12, -3617.0 / 8160, 43867.0 / 14364, -174611.0 / 6600);
}
D f32 stirling_of_digamma(f32 z) {
  return polynomial(z, 1.0 / 12, -1.0 / 120, 1.0 / 252, -1.0 / 240, 1.0 / 132);
}
// Steps of the recurrence before the series takes over, and the zero of ψ in two parts, of which
// ψ(zero) is the second times the slope there.
D int steps_to_stirling(f64) { return 5; }
D int steps_to_stirling(f32) { return 2; }
D f64 zero_of_digamma(f64) { return 1.4616321449683622; }
D f32 zero_of_digamma(f32) { return 1.4616321325302124f; }
D f64 digamma_at_zero(f64) { return -9.241265521729427e-17; }
D f32 digamma_at_zero(f32) { return -1.2036052e-08f; }

template <class R> D R pi() { return R(3.14159265358979323846); }
// x less the nearest integer, which is exact.
template <class R> D R distance_to_integer(R x) { return x - rint(x); }

template <class R> D R log_gamma_of_positive(R x) {  // x >= 1/2
  const int count = steps_to_stirling(x);
  if (x >= count + R(2.5)) {
    const R inverse = 1 / x, rest = inverse * stirling_of_log_gamma(inverse * inverse);
    return (x - R(0.5)) * (log(x) - 1) + (rest + R(0.41893853320467274));
  }
  if (x < 1) return (x - 1) * log_gamma_beside_2(x - 1) - log(x);
  if (x < R(1.5)) return (x - 1) * log_gamma_after_1(x - R(1.25));
  const R nearest = floor(x + R(0.5)), u = x - nearest;
  R product = 1;  // Γ(x) / Γ(2 + u)
  for (int k = 1; k <= count; ++k) product *= nearest >= k + 2 ? x - k : R(1);
  return u * log_gamma_beside_2(u) + log(product);
}
template <class R> D R log_gamma(R x) {
  if (is_infinite(x)) return x;
  if (x >= R(0.5)) return log_gamma_of_positive(x);
  if (x > R(-0.5)) return x * log_gamma_beside_2(x) - log(abs(x) * (1 + x));
  const R size = abs(x), sine = sin(pi<R>() * abs(distance_to_integer(x)));
  return log(pi<R>() / (size * sine)) - log_gamma_of_positive(size);
}

template <class R> D R digamma_of_positive(R x) {
  const int count = steps_to_stirling(x);
  if (x >= count + 2) {
    const R inverse = 1 / x, square = inverse * inverse;
    return log(x) - (R(0.5) * inverse + square * stirling_of_digamma(square));
  }
  const R steps = floor(x) - 1, moved = x - steps;  // ψ(x) = ψ(moved) + upper / lower
  R upper = steps < 0 ? R(-1) : R(0), lower = steps < 0 ? x : R(1);
  for (int k = 1; k <= count; ++k) {
    const R factor = steps >= k ? x - k : R(1);
    upper = upper * factor + (steps >= k ? lower : R(0));
    lower *= factor;
  }
  const R distance = moved - zero_of_digamma(x);
  return upper / lower + (distance * digamma_over_distance(moved - R(1.5)) + digamma_at_zero(x));
}
template <class R> D R digamma_of(R x) {
  if (x > 0 || x != x) return digamma_of_positive(x);
  if (x == 0) return -1 / x;
  const R part = distance_to_integer(x);
  if (!(part != 0)) return part / part;  // a pole, or minus infinity
  return digamma_of_positive(1 - x) - pi<R>() / tan(pi<R>() * part);
}
template <class T> D T lgamma(T x) { return convert<T>(log_gamma(wide(x))); }
template <class T> D T digamma(T x) { return convert<T>(digamma_of(wide(x))); }
#undef D
