import { isJsonObject, type JsonObject, type JsonValue } from '../../chat/json.js';
import type { ToolSpec } from '../../chat/request.js';
import { estimateTokens, type Tokens } from '../../chat/tokens.js';

/** The share of the window that the descriptions of the tools may take: the conversation needs the rest. */
const SHARE = 0.25;

/** The tools as they are offered in a window, and the notice when they are not offered as they are; null otherwise. */
export interface FittedTools {
  readonly tools: readonly ToolSpec[];
  readonly notice: string | null;
}

/** The tools as they are, where they take no more than their share of the window; else in short; else none. */
export function fitTools(tools: readonly ToolSpec[], window: number): FittedTools {
  const size = toolTokens(tools);
  if (size <= SHARE * window) return { tools, notice: null };
  const short = tools.map(shortened);
  const beginning = `The tools take ${size} of the ${window} tokens of the window:`;
  if (toolTokens(short) <= SHARE * window)
    return { tools: short, notice: `${beginning} the model gets shorter descriptions of them.` };
  return { tools: [], notice: `${beginning} the model answers without them.` };
}

/** The estimate of the tools as they are described to the model. */
export function toolTokens(tools: readonly ToolSpec[]): Tokens {
  return estimateTokens(tools.length > 0 ? JSON.stringify(tools).length : 0);
}

/** A tool with the first sentence of its description, and with the bare types of its parameters. */
function shortened({ name, description, parameters }: ToolSpec): ToolSpec {
  const bare = withoutDescriptions(parameters);
  return {
    name,
    description: /^.*?[.:;](?=\s|$)/s.exec(description)?.[0] ?? description,
    parameters: isJsonObject(bare) ? bare : parameters,
  };
}

/** A schema without the words in it. What is named `description` among the properties is a parameter. */
function withoutDescriptions(schema: JsonValue | undefined): JsonValue {
  if (schema === undefined) return null;
  if (!isJsonObject(schema)) return schema;
  const properties = isJsonObject(schema.properties) ? schema.properties : null;
  const rest = Object.entries(schema).filter(([key]) => key !== 'description');
  const kept: JsonObject = Object.fromEntries(rest);
  if (properties === null) return kept;
  const bare = Object.entries(properties).map(([name, value]) => [name, withoutDescriptions(value)]);
  return { ...kept, properties: Object.fromEntries(bare) };
}
