"""HTTP/1.1 parsed more strictly than h11 does, so that a proxy and this server agree about where a request ends.

RFC 9112 allows a recipient to take a bare LF for a line end (2.2), a folded header line (5.2) and a request with both
Transfer-Encoding and Content-Length (6.1). A proxy in front may read such a request otherwise, so they are refused.
"""

from __future__ import annotations

import re
from http import HTTPStatus

import h11
from h11._receivebuffer import ReceiveBuffer

MAX_HEAD_BYTES = 16 * 1024
MAX_HEADERS = 100
# The least mean size of chunks, since smaller ones cost more to parse than they carry; the first 512 may be smaller.
_MIN_CHUNK_BYTES = 32
_FREE_CHUNKS = 512
_BARE_LF = re.compile(rb"(?<!\r)\n")
_FOLDED = re.compile(rb"\r\n[ \t]")


def _refusal(sentence: str, status: int = HTTPStatus.BAD_REQUEST) -> h11.LocalProtocolError:
    return h11.LocalProtocolError(sentence, error_status_hint=status)


class _StrictBuffer(ReceiveBuffer):
    """The bytes of a connection; its lines end in CRLF and are limited in number and length."""

    def maybe_extract_lines(self) -> list[bytearray] | None:
        """The lines of a head or of trailers once they are complete; LocalProtocolError for lines that are refused."""
        if self._data[:2] == b"\r\n":
            return super().maybe_extract_lines()
        from_here = self._multiple_lines_search
        end = self._data.find(b"\r\n\r\n", max(0, from_here - 3))
        stop = len(self._data) if end < 0 else end + 4
        if _BARE_LF.search(self._data, max(0, from_here - 1), stop):
            raise _refusal("a line of the head ends in LF without CR")
        if stop > MAX_HEAD_BYTES:
            raise _refusal("the head is too long", HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
        if end < 0:
            self._multiple_lines_search = len(self._data)
            return None
        if _FOLDED.search(self._data, 0, end):
            raise _refusal("a header line is folded")
        if self._data.count(b"\r\n", 0, end) > MAX_HEADERS:
            raise _refusal("there are too many headers", HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
        self._multiple_lines_search = 0
        return super().maybe_extract_lines()


class StrictConnection(h11.Connection):
    """h11's connection of a server; `refusal` is the status and the reason of the request that it has refused."""

    def __init__(self) -> None:
        super().__init__(h11.SERVER, max_incomplete_event_size=MAX_HEAD_BYTES)
        self._receive_buffer = _StrictBuffer()
        self._chunks = self._body_bytes = 0
        self._is_chunked = False
        self.refusal: tuple[int, str] | None = None

    def next_event(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        """The next event; RemoteProtocolError for a request that violates strict HTTP."""
        try:
            event = super().next_event()
            if isinstance(event, h11.Request):
                self._check_framing(event)
            elif isinstance(event, h11.Data) and self._is_chunked:
                self._count_chunk(event)
        except h11.RemoteProtocolError as error:
            self.refusal = (error.error_status_hint, str(error))
            raise
        return event

    def _check_framing(self, request: h11.Request) -> None:
        names = {name for name, _ in request.headers}
        self._is_chunked = b"transfer-encoding" in names
        self._chunks = self._body_bytes = 0
        if self._is_chunked and b"content-length" in names:
            raise h11.RemoteProtocolError("both Content-Length and Transfer-Encoding are there", 400)
        if self._is_chunked and request.http_version < b"1.1":
            raise h11.RemoteProtocolError("HTTP/1.0 knows no Transfer-Encoding", 400)

    def _count_chunk(self, data: h11.Data) -> None:
        self._chunks += data.chunk_start
        self._body_bytes += len(data.data)
        if self._chunks > _FREE_CHUNKS and self._body_bytes < _MIN_CHUNK_BYTES * self._chunks:
            raise h11.RemoteProtocolError("the chunks of the body are too small", 400)
