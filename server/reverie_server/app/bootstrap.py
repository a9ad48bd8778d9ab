"""The first key of a server, from its settings."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import structlog
from pydantic import SecretStr

from reverie_indexer.errors import SetupError
from reverie_server.access.keys import Keys
from reverie_server.settings.server import Settings

if TYPE_CHECKING:
    pass

log = structlog.get_logger()


async def bootstrap_key(settings: Settings, keys: Keys) -> None:
    """Make the first key of the settings where there is none. SetupError for what is no key, or a file without one."""
    key, file = settings.bootstrap_admin_key, settings.bootstrap_admin_key_file
    if key is not None and file is not None:
        raise SetupError("give one of REVERIE_BOOTSTRAP_ADMIN_KEY and REVERIE_BOOTSTRAP_ADMIN_KEY_FILE")
    if file is not None:
        try:
            text = await asyncio.to_thread(file.read_text)
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not text"
            raise SetupError(f"the file of REVERIE_BOOTSTRAP_ADMIN_KEY_FILE cannot be read: {reason}") from None
        key = SecretStr(text.strip())
    if key is not None and await keys.bootstrap(key.get_secret_value()):
        log.info("bootstrap_key_made")
