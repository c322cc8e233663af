import { HiError } from '../../errors.js';
import { nearest } from '../../registry.js';
import type { Target } from '../../session/common/deps.js';
import type { Connections } from './connections.js';

/** How long the server may take to list its models, in milliseconds: who misspelt a name waits for the error. */
const PATIENCE = 2000;

/** An error about a model that is not there, with the nearest name of those that are; any other unchanged. */
export async function withNearestModel(thrown: unknown, target: Target, connections: Connections): Promise<unknown> {
  if (!(thrown instanceof HiError) || thrown.code !== 'model') return thrown;
  const listed = await connections.models(target, PATIENCE).catch(() => []);
  const names = listed.map((name) => name.replace(/:latest$/, ''));
  const near = nearest(target.model, names);
  if (near === null || near === target.model) return thrown;
  const hint = `Did you mean '${near}'? ${thrown.hint ?? ''}`.trimEnd();
  return new HiError('model', thrown.message, { hint, cause: thrown });
}
