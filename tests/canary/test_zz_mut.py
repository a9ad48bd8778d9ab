from __future__ import annotations
import re, pytest, time
from tests.canary.test_canary_bites import *
from tests.canary.test_canary_bites import edit_sql, open_rows, everything_about
from reverie_server.workspace import forget as fg, clear as cl, snapshots as sn, keyword as kw, compaction as co, files as wf, sections
from reverie_server.recall import expand as ex
from reverie_indexer import store as st, slices as sl
from reverie_server.agents import agents as ag
from reverie_server.access import gate as gt
from reverie_server.http import operations as ops
from reverie_indexer.errors import NotFound

def nos(q, name, pat, rep=""):
    def br(mp): edit_sql(mp, q, name, lambda t: re.sub(pat, rep, t))
    br.__name__=f"{name}"
    return br
SL=r"AND [a-z]?\.?slice_id = ANY\(%\(slice_ids\)s::bigint\[\]\)"
def own_all(mp):
    # own_slices gives all that is visible
    async def wrong(connection, place, *, with_past=False):
        v=await sl.visible_slices(connection, place.tenant_id, place.agent_id, place.owner_key, with_past=with_past)
        return [s.slice_id for s in v]
    for m in (fg, sn, co, wf): mp.setattr(m,"own_slices",wrong)
def error_text(mp):
    orig=sections.replace_text
    def wrong(text, old, new, *, replace_all):
        try: return orig(text, old, new, replace_all=replace_all)
        except NotFound as e: raise NotFound(f"{e.detail}: {text[:200]}")
    mp.setattr(sections,"replace_text",wrong)
def metrics_path(mp):
    async def call(self, scope, receive, send):
        try: await self._app(scope, receive, send)
        finally: self._metrics.requests.labels(scope.get("method","x"), scope.get("path","x"), "1").inc()
    mp.setattr(ops.Measured,"__call__",call)
def bound_owner_ignored(mp):
    def wrong(caller, agent_id, owner_key):
        gt.check_agent(caller, agent_id); return owner_key or caller.owner_key
    from reverie_server.tools import connection as tc
    mp.setattr(tc,"acting_owner",wrong); 
def viewer_tools(mp):
    from reverie_server.tools import connection as tc
    from dataclasses import replace
    o=tc.connect
    def wrong(caller,a,k):
        c=o(caller,a,k); return replace(c, caller=replace(c.caller, role="member" if c.caller.role=="viewer" else c.caller.role))
    from reverie_server.mcp import request as mr
    mp.setattr(mr,"connect",wrong)
def leader_personal(mp):
    o=wf.Workspace._resolve
    async def wrong(self, connection, reader, path, scope, **k):
        try: return await o(self, connection, reader, path, scope, **k)
        except NotFound:
            if reader.leader_agent_id is None: raise
            from dataclasses import replace
            return await o(self, connection, replace(reader, agent_id=reader.leader_agent_id), path, scope, **k)
    mp.setattr(wf.Workspace,"_resolve",wrong)
def isolation_ignored_global(mp):
    o=gt.Gate.write
    async def wrong(self, caller, a, k, scope):
        from dataclasses import replace
        return await o(self, replace(caller, role="admin") if caller.role=="member" else caller, a, k, scope)
    mp.setattr(gt.Gate,"write",wrong)
def restore_any(mp):
    pass
M=[
 nos(fg.SQL,"holding_versions",SL), nos(fg.SQL,"holding_chunks",SL), nos(fg.SQL,"passage",SL), nos(fg.SQL,"sharing_files",SL),
 nos(cl.SQL,"clearable",r"AND d.slice_id = %\(slice_id\)s"), nos(sn.SQL,"exported",SL), nos(sn.SQL,"present",SL),
 nos(kw.SQL,"candidates",r"AND d.slice_id = s.slice_id"), nos(co.SQL,"backups",SL), nos(ex.SQL,"passage",SL), 
 nos(st.SQL,"document",SL), nos(st.SQL,"documents",SL), nos(st.SQL,"version",r"AND document_id = %\(document_id\)s", "AND true"),
 nos(ag.SQL,"agents",r"tenant_id = %\(tenant_id\)s", "true"),
 own_all, error_text, metrics_path, bound_owner_ignored, viewer_tools, leader_personal, isolation_ignored_global,
]
@pytest.mark.parametrize("br", M, ids=lambda b: b.__name__)
async def test_mut(runtime, serve_runtime, conninfo, monkeypatch, br):
    open_rows(conninfo); br(monkeypatch)
    try:
        await everything_about(runtime, serve_runtime, conninfo, 2000)
    except BaseException as e:
        print("\nMUT", br.__name__, type(e).__name__, str(e)[:160].replace("\n"," "), (getattr(e,"__notes__",None) or ["setup"])[0][:14]); return
    print("\nMUT", br.__name__, "SURVIVED")
