-- When a language model was asked what a request to forget means, and whether it waits for that alone.
ALTER TABLE unmet_requests ADD COLUMN judged_at timestamptz, ADD COLUMN for_model boolean NOT NULL DEFAULT false;
