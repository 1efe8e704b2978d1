"""The machinery of the backward pass: what one step does, in which order steps are taken, what each op saved."""
