import type { ToolEffects, ToolSpec } from '../chat/request.js';
import { tools } from './index.js';

/**
 * The tools as offered to the model. The build evaluates this file and keeps only the data, so that a turn without a
 * tool call loads no tool.
 */
export const SPECS: readonly ToolSpec[] = tools.map(({ name, description, parameters }) => ({
  name,
  description,
  parameters,
}));

/** The descriptions that differ if commands run in sh, by tool name. */
export const DESCRIPTIONS_IN_SH: Readonly<Record<string, string>> = Object.fromEntries(
  tools.flatMap(({ name, descriptionInSh }) => (descriptionInSh === undefined ? [] : [[name, descriptionInSh]])),
);

/** The effects of all tools, including those not offered now: the history may contain their calls. */
export const EFFECTS: ToolEffects = Object.fromEntries(
  tools.flatMap(({ name, effect }) => (effect === null ? [] : [[name, effect]])),
);
