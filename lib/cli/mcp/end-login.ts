import type { Paths } from '../../config/paths.js';
import { LoginFile, type StoredLogin } from '../../mcp/auth/login-file.js';
import { revokeTokens } from '../../mcp/auth/tokens-adapter.js';
import { visibleLine } from '../../screen/text/neutralise.js';
import { exclusively } from '../base/configured-servers.js';
import type { World } from '../base/world.js';

/** An authorization server that does not answer delays nobody for longer, in milliseconds. */
const REVOKED_WITHIN = 5000;

/** Forgets the login at a server, and has its tokens revoked where that is possible; a failure of that is said. Resolves to false where there was none. */
export async function endLogin(world: World, paths: Paths, name: string): Promise<boolean> {
  const taken = await new LoginFile(paths.serverLogins, name, exclusively).take();
  if (taken === null) return false;
  if (taken.login?.tokens) await revoked(world, taken.login);
  return true;
}

async function revoked(world: World, login: StoredLogin): Promise<void> {
  const stop = new AbortController();
  const release = world.onStop(() => stop.abort());
  const limit = AbortSignal.any([stop.signal, AbortSignal.timeout(REVOKED_WITHIN)]);
  try {
    await revokeTokens(login, world.env, limit);
  } catch (thrown) {
    const reason = limit.aborted ? 'no answer in time.' : thrown instanceof Error ? thrown.message : String(thrown);
    const text = `The tokens are no longer stored here, but could not be revoked: ${reason}`;
    world.stderr.write(`${visibleLine(text)}\n`);
  } finally {
    release();
  }
}
