import type { ValidateFunction } from 'ajv';
import type { ToolSpec } from '../chat/request.js';

/** Ajv's check of a tool's arguments. The build puts standalone code for every member in place of this file, so that ajv itself is not loaded. */
export async function compile(tool: ToolSpec): Promise<ValidateFunction> {
  const { default: ajv } = await import('ajv');
  return new ajv.Ajv({ allErrors: true }).compile(tool.parameters);
}
