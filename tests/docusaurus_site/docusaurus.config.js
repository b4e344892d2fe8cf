import rehypeKatex from 'rehype-katex';
import remarkMath from 'remark-math';

export default {
  title: 'The Garden Book',
  tagline: 'Water, soil and tools',
  url: 'https://book.example.org',
  baseUrl: '/book/',
  trailingSlash: false,
  onBrokenLinks: 'throw',
  onBrokenAnchors: 'throw',
  i18n: {defaultLocale: 'en', locales: ['en', 'es']},
  presets: [
    [
      'classic',
      {
        docs: {
          sidebarPath: './sidebars.js',
          remarkPlugins: [remarkMath],
          rehypePlugins: [rehypeKatex],
          showLastUpdateTime: true,
        },
        blog: {showLastUpdateTime: true},
        pages: {showLastUpdateTime: true},
        sitemap: {lastmod: 'date', ignorePatterns: []},
      },
    ],
  ],
  themeConfig: {
    // Nobody is asked: the theme makes its search page where these are given.
    algolia: {appId: 'none', apiKey: 'none', indexName: 'none'},
    navbar: {
      title: 'The Garden Book',
      items: [
        {type: 'docSidebar', sidebarId: 'tutorialSidebar', label: 'Read'},
        {to: '/blog', label: 'News'},
        {type: 'docsVersionDropdown'},
        {type: 'localeDropdown'},
      ],
    },
    footer: {copyright: 'The gardeners'},
  },
};
