"""Facts: what files and conversations state, when it holds, and what people said of it."""
