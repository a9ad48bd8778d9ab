-- The days of a conversation are found by the times of its messages.
CREATE INDEX messages_by_time ON messages (tenant_id, slice_id, at);
