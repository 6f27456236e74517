"""Stores a login of an mcp server through the server's own store, as a person's login does, or prints what that store finds:
oauth.py store|find URL, with the parts of the login as JSON on stdin for `store`."""
import asyncio
import json
import sys

from openhands.agent_server.config import get_default_config
from openhands.agent_server.mcp_oauth_store import MCPSettingsOAuthTokenStore
from openhands.agent_server.persistence import get_settings_store

PARTS = {
    'client_info': ('client_info', 'mcp-oauth-client-info'),
    'tokens': ('tokens', 'mcp-oauth-token'),
    'token_expires_at': ('token_expiry', 'mcp-oauth-token-expiry'),
}


async def main(action, url):
    get_settings_store(get_default_config())
    store = MCPSettingsOAuthTokenStore()
    login = json.load(sys.stdin) if action == 'store' else {}
    for name, value in login.items():
        key, collection = PARTS[name]
        await store.put(f'{url}/{key}', value, collection=collection)
    found = {name: await store.get(f'{url}/{key}', collection=collection) for name, (key, collection) in PARTS.items()}
    print('LOGIN ' + json.dumps({name: value for name, value in found.items() if value is not None}))


asyncio.run(main(*sys.argv[1:]))
