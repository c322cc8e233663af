/** Keywords that say nothing of the value. */
const SILENT = new Set(['$schema', '$id', '$comment', '$defs', 'definitions', 'readOnly', 'writeOnly', 'deprecated']);

/** Keywords that restrict nothing. */
export const ANNOTATIONS = new Set(['title', 'description', 'default', 'examples', ...SILENT]);

/** Keywords that the translation reads, each in its own place. */
export const STRUCTURE = new Set([
  'type',
  'nullable',
  'title',
  'description',
  'enum',
  'const',
  'format',
  'properties',
  'required',
  'additionalProperties',
  'items',
  'prefixItems',
  ...SILENT,
]);

/** What refers to a place by other means than its path. */
export const DYNAMIC = ['$anchor', '$dynamicRef', '$dynamicAnchor', '$recursiveRef', '$recursiveAnchor'];
