-- agent, prepared: an agent's settings, its leader, and the settings of the leader
SELECT a.settings, a.leader_agent_id, l.settings AS leader_settings
FROM agents a
LEFT JOIN agents l ON l.tenant_id = a.tenant_id AND l.agent_id = a.leader_agent_id
WHERE a.tenant_id = %(tenant_id)s AND a.agent_id = %(agent_id)s;
