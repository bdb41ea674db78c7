import { join } from 'node:path'
import { defineConfig } from 'vite'

/** `npm run build:console` writes the pages into dist/pages, from where the console serves them. */
export default defineConfig({
  root: import.meta.dirname,
  // Relative addresses: the pages do not know where they are served.
  base: './',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: join(import.meta.dirname, '..', 'dist', 'pages'),
    emptyOutDir: true,
    target: ['chrome123', 'edge123', 'firefox120', 'safari17.5'],
    // A data: address would need an exception in the Content-Security-Policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    cssCodeSplit: false,
    reportCompressedSize: false,
  },
})
