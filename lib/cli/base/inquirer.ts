/** The questions the program asks, so that no others of the package are in the bundle. Loaded when something is asked. */
export { confirm, input, password, search, select } from '@inquirer/prompts';
