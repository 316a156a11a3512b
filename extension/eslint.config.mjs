import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['lib/**', 'node_modules/**', 'src/messages.gen.ts', '*.mjs', 'scripts/**', 'vitest.config.mts'] },
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: { parserOptions: { project: ['./tsconfig.json', './tsconfig.test.json'] } },
    rules: {
      'no-console': 'error',
      'no-restricted-properties': [
        'error',
        { property: 'innerHTML', message: 'Names from the kernel must never become markup: use textContent.' },
        { property: 'outerHTML', message: 'Names from the kernel must never become markup: use textContent.' },
        { property: 'insertAdjacentHTML', message: 'Names from the kernel must never become markup.' }
      ],
      eqeqeq: 'error',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      'max-lines': ['error', 250]
    }
  },
  { files: ['src/__tests__/**'], rules: { '@typescript-eslint/no-non-null-assertion': 'off' } }
);
