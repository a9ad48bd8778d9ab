"""The background work: read its health, retry failed jobs."""

from __future__ import annotations

from reverie_client._async.bound import AsyncBound
from reverie_client.derived import PipelineHealth, Retried, Stage
from reverie_client.request import Call


class AsyncPipeline(AsyncBound):
    """Background work on the owner's memory and the team's."""

    async def pipeline(self) -> PipelineHealth:
        """What waits, runs and has failed, stage by stage, and what each last did.

        Where no owner is named and the key is bound to none: all owners' work, and how the models did.
        """
        call = Call(method="GET", path=f"{self._path}/pipeline", query=self._owner, is_read=True)
        return await self._connection.ask(PipelineHealth, call)

    async def retry_pipeline(self, *, stage: Stage | None = None, job_id: str | None = None) -> int:
        """Try again what has failed for good: all of it, a stage's, or one job; how many jobs that are."""
        body = {**self._owner, "stage": stage, "job_id": job_id}
        call = Call(method="POST", path=f"{self._path}/pipeline/retry", body=body)
        return (await self._connection.ask(Retried, call)).retried
