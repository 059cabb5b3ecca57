document.body.append("throng studio");
