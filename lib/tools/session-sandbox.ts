import { lstatSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../folder.js';
import type { Rules } from '../permission/rules/rules.js';
import type { Sandbox } from '../permission/sandbox/sandbox.js';
import type { ToolContext } from './tool.js';

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
    const { Sandbox, sandboxKind } = await import('../permission/sandbox/sandbox.js');
    const { context, ownPlaces = [], freeFolders = [] } = options;
    const { coversPath } = await import('../permission/paths/judge-path.js');
    if (!context.sandbox && (await sandboxKind()) === null) return null;
    return new Sandbox({
      root: context.root,
      ownPlaces: [...ownPlaces, ...(context.sandbox?.hidden ?? [])],
      freeFolders: [context.spillFolder, ...freeFolders],
      emptyFile: () => emptyFileIn(context.spillFolder),
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

/** Named as outputs are, so that it goes where they go. */
const EMPTY_OUTPUT = '1970-01-01T00-00-00-000Z-000000.stdout';

function emptyFileIn(folder: string): string {
  const path = join(folder, EMPTY_OUTPUT);
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found?.isFile() === true && found.size === 0) return path;
  makeFolder(folder, 0o700);
  writeFileSync(path, '', { mode: 0o600 });
  return path;
}
