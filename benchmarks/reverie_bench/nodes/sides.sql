-- is_new: whether nothing of the program's is in the database yet
SELECT to_regclass('models') IS NULL AS is_new;

-- is_distributed: whether the database is a coordinator's
SELECT to_regclass('pg_dist_node') IS NOT NULL AS is_distributed;

-- workers: the nodes beside the coordinator that hold rows, as they are reached from it
SELECT nodename AS host, nodeport::text AS port FROM pg_dist_node
WHERE noderole = 'primary' AND isactive AND shouldhaveshards AND groupid <> 0 ORDER BY nodeid;

-- placed: how many of some tenants each node has, by its port and address
SELECT n.nodename AS host, n.nodeport::text AS port, count(*)::integer AS tenants
FROM unnest(%(tenants)s::text[]) AS t(tenant_id)
JOIN pg_dist_placement p ON p.shardid = get_shard_id_for_distribution_column('agents', t.tenant_id)
JOIN pg_dist_node n ON n.groupid = p.groupid AND n.noderole = 'primary'
GROUP BY 1, 2;

-- crossings: what the coordinator has sent to other nodes: statements for one of them, for several, and connections
SELECT query_execution_single_shard::bigint AS for_one_node, query_execution_multi_shard::bigint AS for_several,
       connection_establishment_succeeded::bigint AS connections_made, connection_reused::bigint AS connections_reused
FROM citus_stat_counters WHERE name = current_database();

-- is_counting: whether Citus counts these
SELECT current_setting('citus.enable_stat_counters', true) IS NOT DISTINCT FROM 'on' AS is_counting;
