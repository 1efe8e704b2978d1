"""A student's own folder of notebooks: started, updated, opened in JupyterLab, checked and packed for submission."""
