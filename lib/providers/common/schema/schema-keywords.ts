/** Keywords that do not describe the value. */
const SILENT = new Set(['$schema', '$id', '$comment', '$defs', 'definitions', 'readOnly', 'writeOnly', 'deprecated']);

/** Keywords that do not restrict the value. */
export const ANNOTATIONS = new Set(['title', 'description', 'default', 'examples', ...SILENT]);

/** Keywords that the translation handles itself. */
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

/** References other than paths. */
export const DYNAMIC = ['$anchor', '$dynamicRef', '$dynamicAnchor', '$recursiveRef', '$recursiveAnchor'];
