"""The body of a method: self is the array, its storage begins at the first element."""

def permute(self, *order: int) -> TensorData:
    return TensorData(
        self._storage,
        tuple([self.shape[o] for o in order]),
        tuple([self.strides[o] for o in order]),
    )
