// Writes a hash of what the built extension was made from next to it, so that a test without node can tell it is stale.
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

function files(path) {
  if (statSync(path).isFile()) {
    return [path];
  }
  return readdirSync(path)
    .filter(name => name !== '__tests__')
    .flatMap(name => files(join(path, name)));
}

const named = ['package.json', 'schema', 'src', 'style', 'tsconfig.json', 'yarn.lock']
  .flatMap(name => files(join(root, name)))
  .map(path => [relative(root, path).split(sep).join('/'), path])
  .sort(([a], [b]) => (a < b ? -1 : 1));
const hash = createHash('sha256');
for (const [name, path] of named) {
  hash.update(`${name}\n`).update(readFileSync(path, 'utf8').replaceAll('\r\n', '\n'));
}
writeFileSync(join(root, '..', 'nbtorch', 'labextension', 'sources.sha256'), `${hash.digest('hex')}\n`);
