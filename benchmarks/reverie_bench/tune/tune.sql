-- active_dimension: of the vectors that the program has in a database of its own
SELECT dimension FROM models WHERE active;

-- as_owner: upkeep across tenants, as the tables' owner
SELECT set_config('reverie.maintenance', 'on', true);

-- slice_of: the one slice of an agent that was just written
SELECT slice_id FROM slices WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND NOT past ORDER BY slice_id;
