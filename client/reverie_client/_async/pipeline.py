"""What there is of a memory, its days, and the background work: read its health, retry failed jobs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import date, datetime

from reverie_client._async.bound import AsyncBound
from reverie_client.derived import PipelineHealth, Retried, Stage, Summary, TimelineDay, TimelineKind, TimelinePage
from reverie_client.request import Call


class AsyncPipeline(AsyncBound):
    """Background work on the owner's memory and the team's."""

    async def summary(self) -> Summary:
        """How much there is of the owner's memory and of what is shared, how far it is trusted, and what waits."""
        call = Call(method="GET", path=f"{self._path}/summary", query=self._owner, is_read=True)
        return await self._connection.ask(Summary, call)

    def timeline(
        self,
        *,
        kind: TimelineKind | None = None,
        since: datetime | None = None,
        until: date | None = None,
        entries: bool = True,
        page_size: int | None = None,
    ) -> AsyncIterator[TimelineDay]:
        """The days on which something was said, learned, went through, ended or was forgotten, the newest first.

        `until` is the last of them, in the agent's time zone.
        """
        query = {
            **self._owner,
            "kind": kind,
            "since": None if since is None else since.isoformat(),
            "until": None if until is None else until.isoformat(),
            "entries": None if entries else "false",
            "limit": page_size,
        }
        call = Call(method="GET", path=f"{self._path}/timeline", query=query, is_read=True)
        return self._connection.each(TimelinePage, call)

    async def pipeline(self) -> PipelineHealth:
        """The jobs of each stage that wait, run or have failed, and the stage's last run.

        Where no owner is named and the key is bound to none: all owners' work, and how the models did.
        """
        call = Call(method="GET", path=f"{self._path}/pipeline", query=self._owner, is_read=True)
        return await self._connection.ask(PipelineHealth, call)

    async def retry_pipeline(self, *, stage: Stage | None = None, job_id: str | None = None) -> int:
        """Retry jobs that failed for good: all, those of a stage, or one; the number of retried jobs."""
        body = {**self._owner, "stage": stage, "job_id": job_id}
        call = Call(method="POST", path=f"{self._path}/pipeline/retry", body=body)
        return (await self._connection.ask(Retried, call)).retried
