-- The days of a conversation are found by the times of its messages. For these statements alone, which ask for
-- `tokens >= 0`, as all messages have it: without statistics the planner would take it for another way into a session.
CREATE INDEX messages_by_time ON messages (tenant_id, slice_id, at) WHERE tokens >= 0;
