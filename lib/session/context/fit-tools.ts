import { isJsonObject, type JsonObject, type JsonValue } from '../../chat/json.js';
import { estimateTokens, type Tokens, type ToolSpec } from '../../chat/request.js';

/** The share of the window that the descriptions of the tools may take: the conversation needs the rest. */
const SHARE = 0.25;

/** The tools offered, and a notice if they were shortened or left out; null otherwise. */
export interface FittedTools {
  readonly tools: readonly ToolSpec[];
  readonly notice: string | null;
}

/** The tools unchanged if they fit their share of the window, or else with short descriptions, or else none. */
export function fitTools(tools: readonly ToolSpec[], window: number): FittedTools {
  const size = toolTokens(tools);
  if (size <= SHARE * window) return { tools, notice: null };
  const short = tools.map(shortened);
  const beginning = `The tools take ${size} of the ${window} tokens of the window:`;
  if (toolTokens(short) <= SHARE * window)
    return { tools: short, notice: `${beginning} the model gets shorter descriptions of them.` };
  return { tools: [], notice: `${beginning} the model answers without them.` };
}

/** The estimated tokens of the tool definitions. */
export function toolTokens(tools: readonly ToolSpec[]): Tokens {
  return estimateTokens(tools.length > 0 ? JSON.stringify(tools).length : 0);
}

/** A tool with only the first sentence of its description and the types of its parameters. */
function shortened({ name, description, parameters }: ToolSpec): ToolSpec {
  const bare = withoutDescriptions(parameters);
  return {
    name,
    description: /^.*?[.:;](?=\s|$)/s.exec(description)?.[0] ?? description,
    parameters: isJsonObject(bare) ? bare : parameters,
  };
}

/** A schema without descriptions. A property named `description` is a parameter and stays. */
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
