"""Tables from source operations to the assembly of an architecture whose behaviour a model says."""
