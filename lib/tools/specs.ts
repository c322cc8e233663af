import type { ToolSpec } from '../chat/request.js';
import { tools } from './index.js';

/** What the model is told of each tool. The build evaluates this file and keeps only the data, so that a turn without a tool call loads no tool. */
export const SPECS: readonly ToolSpec[] = tools.map(({ name, description, parameters }) => ({
  name,
  description,
  parameters,
}));
