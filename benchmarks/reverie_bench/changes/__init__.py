"""What tells that a sentence says otherwise what an earlier one said: labelled pairs, and the model made of them."""
