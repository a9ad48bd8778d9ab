"""The socket that `reverie serve` listens with."""

from __future__ import annotations

import asyncio
import socket

from reverie_server.cli.main import tcp_socket


async def test_a_response_does_not_wait_for_an_acknowledgement() -> None:
    """Head and body are sent apart: with Nagle's algorithm every response would take 40 ms longer."""
    sends_at_once = asyncio.get_running_loop().create_future()

    async def connected(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        accepted = writer.get_extra_info("socket")
        sends_at_once.set_result(accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        writer.close()

    with tcp_socket("127.0.0.1") as listener:
        listener.bind(("127.0.0.1", 0))
        async with await asyncio.start_server(connected, sock=listener):
            _, writer = await asyncio.open_connection(*listener.getsockname())
            assert await sends_at_once
            writer.close()
            await writer.wait_closed()
