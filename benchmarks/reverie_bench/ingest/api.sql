-- enter_maintenance: as the tables' owner, until the transaction ends
SELECT set_config('reverie.maintenance', 'on', true);

-- empty_cache: whatever is written next has to be embedded
DELETE FROM embedding_cache WHERE tenant_id = %(tenant_id)s;
