import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { isJsonObject, type JsonObject, type JsonValue } from '../../chat/json.js';
import { isTooDeep, MAX_LEVELS } from '../../chat/nesting.js';
import type { AnswerSchema } from '../../chat/request.js';
import { HiError } from '../../errors.js';
import { readFileBytes } from '../../session/files.js';
import { compileSchema } from './compile-schema.js';
import { schemaOfFields } from './field-list.js';
import { asObjectSchema, listOf } from './object-schema.js';
import { type ReadAnswer, readAnswer } from './read-answer.js';

/** The required form of an answer: how to request it, and how to read it. */
export interface Structure {
  readonly asked: AnswerSchema;
  read(text: string): ReadAnswer;
}

/** How a schema is given on the command line. */
export interface GivenSchema {
  /** A file, JSON, or a list of fields. */
  readonly text: string;
  /** Whether the answer is a list of what it describes. */
  readonly isList: boolean;
  readonly needsTools: boolean;
}

/** The structure for a schema. Throws a `HiError` of code `usage` for an invalid schema. */
export async function openStructure(
  { text, isList, needsTools }: GivenSchema,
  cwd: string,
  signal: AbortSignal,
): Promise<Structure> {
  const one = await readSchema(text, cwd, signal);
  // By itself first, so that an error names the places of what was given.
  const checkOne = compileSchema(one);
  const schema = isList ? listOf(one) : one;
  const check = isList ? compileSchema(schema) : checkOne;
  const object = asObjectSchema(schema, isList);
  return {
    asked: { schema: object.schema, needsTools },
    read: (answer) => readAnswer(answer, check, object),
  };
}

async function readSchema(text: string, cwd: string, signal: AbortSignal): Promise<JsonObject> {
  if (/^\s*[[{]/.test(text)) return asSchema(text, 'The schema');
  if (!isFile(resolve(cwd, text))) return schemaOfFields(text);
  const bytes = await readFileBytes(text, { cwd, pipes: true, signal });
  return asSchema(bytes.toString('utf8').replace(/^\uFEFF/, ''), `'${text}'`);
}

/** Whether there is a file, or what a shell's `<(command)` prints. */
function isFile(path: string): boolean {
  try {
    const found = statSync(path);
    return found.isFile() || found.isFIFO();
  } catch {
    return false;
  }
}

function asSchema(text: string, what: string): JsonObject {
  let value: JsonValue;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new HiError('usage', `${what} is not JSON: ${reason}.`, {
      hint: 'A schema is a JSON Schema, a file with one, or a list of fields: name, age int.',
      cause,
    });
  }
  if (!isJsonObject(value))
    throw new HiError(
      'usage',
      `${what} is not a JSON Schema: it is ${Array.isArray(value) ? 'a list' : 'not an object'}.`,
    );
  if (isTooDeep(value)) throw new HiError('usage', `${what} is nested deeper than ${MAX_LEVELS} levels.`);
  return value;
}
