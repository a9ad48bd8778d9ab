-- No facts are read in the archives of the diary: the next run drops those that were, and what they had superseded holds again.
SET LOCAL reverie.maintenance = 'on';
UPDATE documents SET facts_version = 0 WHERE path ~ '^memory/dreams/[0-9]{4}-[0-9]{2}\.md$' AND facts_version > 0;
