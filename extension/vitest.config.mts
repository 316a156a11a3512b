import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: { environment: 'happy-dom', include: ['src/__tests__/**/*.test.ts'], pool: 'threads', maxWorkers: 2 }
});
