"""Random programs under random schemes, by which the engines are held against each other."""
