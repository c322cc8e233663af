import { HiError } from '../../errors.js';
import { approvalsIn, type ProjectServer } from '../../mcp/project-servers.js';
import { suggestion } from '../../registry.js';
import { askToAgree } from '../approval/show-and-ask.js';
import type { CommonOptions } from '../base/command-options.js';
import { configuredServers, usableServers } from '../base/configured-servers.js';
import type { World } from '../base/world.js';

/**
 * Shows each server of the project that was not agreed to, all of its entry, and asks. An answer holds for this very entry in its folder.
 * Resolves to the exit status. Throws a `HiError` where nobody can be asked.
 */
export async function mcpApproveCommand(
  world: World,
  names: readonly string[],
  options: CommonOptions,
): Promise<number> {
  const configured = await configuredServers(world, options);
  const { waiting, problems } = await usableServers(world, configured);
  for (const problem of problems) world.stderr.write(`${problem}\n`);
  const unknown = names.find((name) => waiting.every((server) => server.name !== name));
  if (unknown !== undefined)
    throw new HiError('usage', `No server '${unknown}' is waiting for your approval here.`, {
      hint: suggestion(
        unknown,
        waiting.map(({ name }) => name),
      ),
    });
  const asked = waiting.filter(({ name }) => names.length === 0 || names.includes(name));
  if (asked.length === 0) world.stderr.write('No server is waiting for your approval here.\n');
  else if (world.stdinIs !== 'terminal' || !world.stderr.isTTY)
    throw new HiError('usage', 'Cannot ask for approval without a terminal.', {
      hint: "A project's server runs commands that its authors wrote. Run this on a terminal.",
    });
  const approvals = approvalsIn(configured.paths.serverApprovals);
  for (const server of asked) if (await isApproved(world, server)) approvals.add(server);
  return 0;
}

async function isApproved({ stdin, stderr }: World, { name, file }: ProjectServer): Promise<boolean> {
  const message = `May hi start the server '${name}' of this project?`;
  const texts = [{ name, text: JSON.stringify(file, null, 2) }];
  return await askToAgree(texts, message, { input: stdin, output: stderr });
}
