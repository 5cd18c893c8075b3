"""What comes in: rows of a matrix, files, named sets, synthetic designs."""
