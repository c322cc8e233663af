import type { ErrorObject, ValidateFunction } from 'ajv';
import type { JsonObject } from '../../chat/json.js';
import type { ToolSpec } from '../../chat/request.js';
import { compile } from './compile.js';

const compiled = new Map<string, ValidateFunction>();

/** The errors in the arguments of a call, as sentences the model can act on; null for none. Validators are loaded by the first call. */
export async function argumentErrors(tool: ToolSpec, args: JsonObject): Promise<string | null> {
  const validate = compiled.get(tool.name) ?? (await compile(tool));
  compiled.set(tool.name, validate);
  if (validate(args)) return null;
  const sentences = (validate.errors ?? []).map((error) => sentence(error, args));
  return `Invalid arguments for ${tool.name}: ${sentences.join('; ')}. Expected: ${expected(tool.parameters)}.`;
}

function sentence(error: ErrorObject, args: JsonObject): string {
  const where = error.instancePath.slice(1);
  if (error.keyword === 'additionalProperties') return `unknown argument '${error.params.additionalProperty}'`;
  if (error.keyword === 'required') return `'${error.params.missingProperty}' is missing`;
  return `'${where}' ${error.message ?? 'is wrong'}, got ${JSON.stringify(args[where])?.slice(0, 100) ?? 'nothing'}`;
}

function expected(parameters: JsonObject): string {
  const properties = Object.keys(Object(parameters.properties));
  const required: unknown[] = Array.isArray(parameters.required) ? parameters.required : [];
  return `{${properties.map((name) => (required.includes(name) ? name : `${name}?`)).join(', ')}}`;
}
