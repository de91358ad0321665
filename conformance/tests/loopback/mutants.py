def apply(name):
    assert not name
