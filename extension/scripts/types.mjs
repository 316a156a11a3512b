// Writes src/messages.gen.ts from schema/messages.schema.json; `--check` compares instead, for the tests.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compile } from 'json-schema-to-typescript';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const schema = JSON.parse(readFileSync(join(root, 'schema', 'messages.schema.json'), 'utf8'));
const target = join(root, 'src', 'messages.gen.ts');

const { version } = schema;
delete schema.version;
const body = await compile(schema, 'Message', {
  additionalProperties: false,
  bannerComment: '// Generated from schema/messages.schema.json by scripts/types.mjs. Do not edit.',
  ignoreMinAndMaxItems: true,
  style: { singleQuote: true, tabWidth: 2, trailingComma: 'none' }
});
const text = `${body}\n/** The version of these messages; a batch of another version is not read. */\nexport const VERSION = ${version};\n`;

if (process.argv.includes('--check')) {
  if (readFileSync(target, 'utf8') !== text) {
    process.stderr.write('src/messages.gen.ts is out of date: run node scripts/types.mjs\n');
    process.exit(1);
  }
} else {
  writeFileSync(target, text);
}
