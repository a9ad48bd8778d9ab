-- What became of the answer to a chat completion; null: not known yet, or the caller's own affair.
ALTER TABLE turns ADD COLUMN answer text CHECK (answer IN ('answered', 'failed', 'broke_off', 'left'));
