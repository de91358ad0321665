"""The class `Array`: its attributes and operators, and conversion from and to operands."""
