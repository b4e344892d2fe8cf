"""Web pages: HTML, and pages built by Docusaurus."""
