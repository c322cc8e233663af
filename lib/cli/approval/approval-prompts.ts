/** What the question before a call is asked with. Loaded when one is asked. */
export { input } from '../base/inquirer.js';
export { approvalPrompt } from './approval-prompt.js';
