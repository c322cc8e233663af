import type { ToolSpec } from '../chat/request.js';
import type { ToolEffects } from '../chat/tool-effect.js';
import { tools } from './index.js';

/** What the model is told of each tool. The build evaluates this file and keeps only the data, so that a turn without a tool call loads no tool. */
export const SPECS: readonly ToolSpec[] = tools.map(({ name, description, parameters }) => ({
  name,
  description,
  parameters,
}));

/** What the calls of each tool do, also of tools that are not offered now: the history knows them. */
export const EFFECTS: ToolEffects = Object.fromEntries(
  tools.flatMap(({ name, effect }) => (effect === null ? [] : [[name, effect]])),
);
