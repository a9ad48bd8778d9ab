-- roots: which of some entities of a slice stand for themselves, locked by the slice
SELECT entity_id, name FROM entities
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND entity_id = ANY(%(entity_ids)s::bigint[])
  AND merged_into IS NULL
ORDER BY entity_id;

-- add_merge: record that an entity was merged into another
INSERT INTO merges (tenant_id, slice_id, kept_id, absorbed_id, cosine, jaro_winkler, by, at)
VALUES (%(tenant_id)s, %(slice_id)s, %(kept_id)s, %(absorbed_id)s, %(cosine)s, %(jaro_winkler)s, %(by)s, %(at)s)
RETURNING merge_id;

-- merge: a merge in a slice
SELECT merge_id, kept_id, absorbed_id, undone_at FROM merges
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND merge_id = %(merge_id)s;

-- undo_merge: record that a merge was undone
UPDATE merges SET undone_at = %(at)s, undone_by = %(by)s
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND merge_id = %(merge_id)s AND undone_at IS NULL;

-- decide: record a decision on a pair
UPDATE duplicates SET state = %(state)s, decided_at = %(at)s, decided_by = %(by)s
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND first_id = %(first_id)s AND second_id = %(second_id)s;

-- drop_pairs_of: open pairs with an entity that is another one now
DELETE FROM duplicates
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND state = 'open'
  AND %(absorbed_id)s IN (first_id, second_id);

-- set_apart: record a person's decision that two entities are not one
INSERT INTO duplicates (tenant_id, slice_id, first_id, second_id, cosine, jaro_winkler, state, found_at, decided_at,
                        decided_by)
VALUES (%(tenant_id)s, %(slice_id)s, %(first_id)s, %(second_id)s, NULL, %(jaro_winkler)s, 'dismissed', %(at)s, %(at)s,
        %(by)s)
ON CONFLICT (tenant_id, first_id, second_id) DO UPDATE
SET state = 'dismissed', decided_at = excluded.decided_at, decided_by = excluded.decided_by;

-- propose: a pair for a person, or what is known of it already
INSERT INTO duplicates (tenant_id, slice_id, first_id, second_id, cosine, jaro_winkler, found_at)
VALUES (%(tenant_id)s, %(slice_id)s, %(first_id)s, %(second_id)s, %(cosine)s, %(jaro_winkler)s, %(at)s)
ON CONFLICT (tenant_id, first_id, second_id) DO UPDATE
SET cosine = excluded.cosine, jaro_winkler = excluded.jaro_winkler
WHERE duplicates.state = 'open';

-- apart: pairs among some entities that somebody decided not to be one
SELECT first_id, second_id FROM duplicates
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND state = 'dismissed'
  AND (first_id = ANY(%(entity_ids)s::bigint[]) OR second_id = ANY(%(entity_ids)s::bigint[]))
ORDER BY first_id, second_id;

-- duplicate: a pair of a slice
SELECT duplicate_id, first_id, second_id, state FROM duplicates
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND duplicate_id = %(duplicate_id)s;
