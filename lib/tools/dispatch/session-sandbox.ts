import { createHash } from 'node:crypto';
import { lstatSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../../folder.js';
import type { Rules } from '../../permission/rules/rules.js';
import type { Sandbox } from '../../permission/sandbox/sandbox.js';
import type { ToolContext } from '../common/tool.js';

/** What a session's sandbox is made from. */
interface SandboxOwner {
  readonly context: ToolContext;
  readonly ownPlaces?: readonly string[];
  readonly freeFolders?: readonly string[];
}

/** The sandbox of the session, made when the first command needs it. */
export function sandboxOnce(options: SandboxOwner, rules: () => Rules): () => Promise<Sandbox | null> {
  let made: Promise<Sandbox | null> | null = null;
  const make = async () => {
    const { Sandbox, sandboxKind } = await import('../../permission/sandbox/sandbox.js');
    const { context, ownPlaces = [], freeFolders = [] } = options;
    const { coversPath } = await import('../../permission/paths/judge-path.js');
    if (!context.sandbox && (await sandboxKind()) === null) return null;
    return new Sandbox({
      root: context.root,
      ownPlaces: [...ownPlaces, ...(context.sandbox?.hidden ?? [])],
      freeFolders: [context.spillFolder, ...freeFolders],
      fileOf: (text) => fileIn(context.spillFolder, text),
      isDenied: (path) =>
        rules().deny.some(
          (rule) =>
            rule.subject.accessKind === 'read' && rule.scope.kind !== 'all' && coversPath(rule, [path], context.root),
        ),
    });
  };
  return () => {
    made ??= make();
    return made;
  };
}

/** Made once for each text, and named as outputs are, so that it goes where they go. */
function fileIn(folder: string, text: string): string {
  const name = createHash('sha256').update(text).digest('hex').slice(0, 6);
  const path = join(folder, `1970-01-01T00-00-00-000Z-${text === '' ? '000000' : name}.stdout`);
  if (readOrNull(path) === text) return path;
  makeFolder(folder, 0o700);
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}

function readOrNull(path: string): string | null {
  try {
    return lstatSync(path).isFile() ? readFileSync(path, 'utf8') : null;
  } catch {
    return null;
  }
}
