import { readdirSync, readFileSync } from 'node:fs';

/**
 * Where an SDK lists the models that come to an end. Those of OpenAI and Google list none today; a file that appears is
 * read.
 */
const SDKS = [
  'node_modules/@anthropic-ai/sdk/resources/messages',
  'node_modules/openai/resources',
  'node_modules/@google/genai/dist/node',
];

/** A list of an SDK: `DEPRECATED_MODELS = { 'NAME': 'DATE', … }`. */
const LIST = /DEPRECATED_MODELS\b[^={]*= \{([^}]*)\}/g;
const ROW = /['"]([\w.-]+)['"]:\s*['"]([^'"]+)['"]/g;

/** The models that an SDK lists as deprecated, with the date of their end. */
export function deprecatedModels(): ReadonlyMap<string, string> {
  const files = SDKS.flatMap((folder) =>
    readdirSync(folder).flatMap((name) => (name.endsWith('.js') ? [`${folder}/${name}`] : [])),
  );
  const lists = files.flatMap((file) => [...readFileSync(file, 'utf8').matchAll(LIST)]);
  const rows = lists.flatMap(([, rows = '']) => [...rows.matchAll(ROW)]);
  return new Map(rows.map(([, name = '', date = '']) => [name, date]));
}

/** A sentence for each deprecated model that one of these texts names. */
export function namedDeprecated(texts: readonly (readonly [where: string, text: string])[]): readonly string[] {
  return [...deprecatedModels()].flatMap(([model, date]) =>
    texts.flatMap(([where, text]) =>
      text.split(/[^\w.-]+/).includes(model) ? [`${where} names '${model}', which ends on ${date}.`] : [],
    ),
  );
}
