"""Server and device of Algorithm 1: frames in, frames out, whatever carries them."""
