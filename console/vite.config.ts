import { join } from 'node:path'
import { defineConfig } from 'vite'

interface Graph {
  getModuleInfo(id: string): { readonly importers: readonly string[] } | null
}

/** Whether the frame of all pages needs a module: it is imported by the first script, not only by pages. */
function loadsFirst(id: string, graph: Graph, known = new Set<string>()): boolean {
  if (id === join(import.meta.dirname, 'src', 'main.tsx')) return true
  if (known.has(id)) return false
  known.add(id)
  return (graph.getModuleInfo(id)?.importers ?? []).some((each) => loadsFirst(each, graph, known))
}

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
    rolldownOptions: {
      output: {
        // Else a page fetches a dozen files of a few hundred bytes, each a round trip of the browser's processes.
        codeSplitting: {
          groups: [
            {
              name: (id, graph) => (loadsFirst(id, graph) ? null : 'shared'),
              debugName: 'shared',
              minShareCount: 2,
              includeDependenciesRecursively: false,
            },
          ],
        },
      },
    },
  },
})
