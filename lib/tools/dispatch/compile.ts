import type { ValidateFunction } from 'ajv';
import type { ToolSpec } from '../../chat/request.js';

/**
 * Validates a tool's arguments with ajv. The build replaces this file with generated validators for all tools, so that
 * ajv is not loaded.
 */
export async function compile(tool: ToolSpec): Promise<ValidateFunction> {
  const { default: ajv } = await import('ajv');
  return new ajv.Ajv({ allErrors: true }).compile(tool.parameters);
}
